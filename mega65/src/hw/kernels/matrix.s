; The first block: GEMV.

BLOCK = $E600
TOP = $FF00 - BLOCK >> 8    ; its last page

POWER = $F600               ; upper byte of an F16: its exponent less one, sign in bit 7
MANT = $F700                ; its mantissa's upper bits, 0 when not finite, below 4 when not normal; in bits 4
                            ; to 7 the zeros before a byte's leading one
NORM = $F800                ; power of two that brings a byte's leading one to bit 7
BUFFER = $F900              ; up to $FEFF, used by each kernel in its own way
SIGNED = $80
ZEROS = $F0
