//! Arithmetic and flags on bytes.

use super::Cpu;

impl Cpu {
    #[inline(always)]
    pub(super) fn nz(&mut self, value: u8) {
        self.negative = value;
        self.nonzero = value;
    }

    #[inline(always)]
    pub(super) fn nz16(&mut self, value: u16) {
        self.negative = (value >> 8) as u8;
        self.nonzero = (value >> 8) as u8 | value as u8;
    }

    #[inline(always)]
    pub(super) fn nz32(&mut self, value: u32) {
        self.negative = (value >> 24) as u8;
        self.nonzero = u8::from(value != 0);
    }

    #[inline(always)]
    pub(super) fn lda(&mut self, m: u8) {
        self.a = m;
        self.nz(m);
    }

    #[inline(always)]
    pub(super) fn ldx(&mut self, m: u8) {
        self.x = m;
        self.nz(m);
    }

    #[inline(always)]
    pub(super) fn ldy(&mut self, m: u8) {
        self.y = m;
        self.nz(m);
    }

    #[inline(always)]
    pub(super) fn ldz(&mut self, m: u8) {
        self.z = m;
        self.nz(m);
    }

    #[inline(always)]
    pub(super) fn ora(&mut self, m: u8) {
        self.lda(self.a | m);
    }

    #[inline(always)]
    pub(super) fn and(&mut self, m: u8) {
        self.lda(self.a & m);
    }

    #[inline(always)]
    pub(super) fn eor(&mut self, m: u8) {
        self.lda(self.a ^ m);
    }

    #[inline(always)]
    fn compare(&mut self, register: u8, m: u8) {
        self.carry = register >= m;
        self.nz(register.wrapping_sub(m));
    }

    #[inline(always)]
    pub(super) fn cmp(&mut self, m: u8) {
        self.compare(self.a, m);
    }

    #[inline(always)]
    pub(super) fn cpx(&mut self, m: u8) {
        self.compare(self.x, m);
    }

    #[inline(always)]
    pub(super) fn cpy(&mut self, m: u8) {
        self.compare(self.y, m);
    }

    #[inline(always)]
    pub(super) fn cpz(&mut self, m: u8) {
        self.compare(self.z, m);
    }

    #[inline(always)]
    pub(super) fn bit(&mut self, m: u8) {
        self.negative = m;
        self.overflow = m & 0x40 != 0;
        self.nonzero = self.a & m;
    }

    #[inline(always)]
    pub(super) fn adc(&mut self, m: u8) {
        if self.decimal {
            let sum = add_decimal(self.a, m, self.carry);
            self.adc_binary(m);
            self.a = sum.result;
            self.negative = sum.before_high_digit;
            self.overflow = sum.overflow;
            self.carry = sum.carry;
        } else {
            self.adc_binary(m);
        }
    }

    #[inline(always)]
    pub(super) fn sbc(&mut self, m: u8) {
        if self.decimal {
            let result = subtract_decimal(self.a, m, self.carry);
            self.adc_binary(!m);
            self.a = result;
        } else {
            self.adc_binary(!m);
        }
    }

    #[inline(always)]
    fn adc_binary(&mut self, m: u8) {
        let sum = u16::from(self.a) + u16::from(m) + u16::from(self.carry);
        let result = sum as u8;
        self.overflow = !(self.a ^ m) & (self.a ^ result) & 0x80 != 0;
        self.carry = sum > 0xff;
        self.lda(result);
    }

    #[inline(always)]
    pub(super) fn asl(&mut self, m: u8) -> u8 {
        self.carry = m & 0x80 != 0;
        let r = m << 1;
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn lsr(&mut self, m: u8) -> u8 {
        self.carry = m & 1 != 0;
        let r = m >> 1;
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn asr(&mut self, m: u8) -> u8 {
        self.carry = m & 1 != 0;
        let r = m >> 1 | m & 0x80;
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn rol(&mut self, m: u8) -> u8 {
        let r = m << 1 | u8::from(self.carry);
        self.carry = m & 0x80 != 0;
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn ror(&mut self, m: u8) -> u8 {
        let r = m >> 1 | u8::from(self.carry) << 7;
        self.carry = m & 1 != 0;
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn inc(&mut self, m: u8) -> u8 {
        let r = m.wrapping_add(1);
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn dec(&mut self, m: u8) -> u8 {
        let r = m.wrapping_sub(1);
        self.nz(r);
        r
    }

    #[inline(always)]
    pub(super) fn tsb(&mut self, m: u8) -> u8 {
        self.nonzero = self.a & m;
        m | self.a
    }

    #[inline(always)]
    pub(super) fn trb(&mut self, m: u8) -> u8 {
        self.nonzero = self.a & m;
        m & !self.a
    }

    #[inline(always)]
    pub(super) fn neg(&mut self) {
        self.lda(self.a.wrapping_neg());
    }
}

struct DecimalSum {
    result: u8,
    before_high_digit: u8,
    overflow: bool,
    carry: bool,
}

/// NMOS rules: N and V come from the sum before the high digit is adjusted (Z from the binary
/// sum, which the caller has).
///
/// By value, so that the registers of the caller can stay in registers.
#[cold]
#[inline(never)]
fn add_decimal(a: u8, m: u8, carry: bool) -> DecimalSum {
    let (a, m) = (u16::from(a), u16::from(m));
    let mut low = (a & 15) + (m & 15) + u16::from(carry);
    if low > 9 {
        low += 6;
    }
    let sum = (low & 15) + (a & 0xf0) + (m & 0xf0) + if low > 15 { 16 } else { 0 };
    let carry = sum > 0x9f;
    DecimalSum {
        result: (if carry { sum + 0x60 } else { sum }) as u8,
        before_high_digit: sum as u8,
        overflow: !(a ^ m) & (a ^ sum) & 0x80 != 0,
        carry,
    }
}

/// NMOS rules: only the result is adjusted, the flags are those of the binary difference.
#[cold]
#[inline(never)]
fn subtract_decimal(a: u8, m: u8, carry: bool) -> u8 {
    let (a, m) = (i16::from(a), i16::from(m));
    let mut low = (a & 15) - (m & 15) - i16::from(!carry);
    if low < 0 {
        low = ((low - 6) & 15) - 16;
    }
    let mut result = (a & 0xf0) - (m & 0xf0) + low;
    if result < 0 {
        result -= 0x60;
    }
    result as u8
}
