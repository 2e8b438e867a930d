; The kernels of the mode without the core: two blocks of code, tables and buffers, mapped up to $FFFF while
; one of their kernels runs: `matrix` for GEMV, `vector` for the rest. A block begins with the entry
; (entry.s). Everything that a kernel works on is in its block, the last page is the base page.
;
; Floats are worked on in pieces: a mantissa of 24 bits whose leading one is bit 31 of four bytes (the low
; byte 0), the biased exponent (0: the value is zero), and the sign in bit 7 of a byte.

PAGE = $FF                  ; the base page's number

; Base page.
AM = $00                    ; the accumulator: mantissa; the byte behind it stays 0
AE = $05                    ; exponent
AS = $06                    ; sign
EMPTY = $07                 ; not 0: no term was added yet (a zero that is not +0)
TM = $08                    ; another mantissa
TE = $0D                    ; the term: exponent and sign
TS = $0E
ST = $0F                    ; 1 when something lies below the last bit kept
UM = $10                    ; second factor: mantissa; the byte behind it stays 0
UE = $15
US = $16
BAD = $17                   ; not 0: this is beyond the kernel, the caller computes it otherwise
HOME = $18                  ; where the block is in chip RAM, 4 bytes
OP = $1C                    ; pointer to the operand's pieces
N = $1E
YI = $1F
P = $20                     ; the caller's parameters, 40 bytes
D = $48                     ; distance of exponents; 2 bytes
YSTEP = $4A
Y0 = $4B
I0 = $4C                    ; integer sum of a block, 3 bytes
I1 = $4D
I2 = $4E
GP = $50                    ; pointer into generated code
WOFF = $52
QI = $53
SA = $54                    ; sums of magnitudes, 2 bytes each
SN = $56
PA = $58                    ; far pointers, 4 bytes each
PB = $5C
PC = $60
SRC = $64                   ; source of a copy
LEN = $68
END = $6A                   ; where the operands end
XM = $6C                    ; a kept value: mantissa, exponent, sign
XE = $71
XS = $72
COUNT = $73                 ; 2 bytes
BLOCKS = $75                ; 2 bytes
W = $78                     ; two blocks of weights, 68 bytes
TB = $80                    ; exact sum: 16 bytes, below them 8 zeros
SEG = $90
NB = $BC                    ; 9 bytes
MXL = $C6                   ; significands and exponents of the operand's scales, two each
MXH = $C8
EX = $CA
AP = $CC                    ; pointers into the exact accumulators
AP1 = $CE
AP2 = $D0
AP3 = $D2
NP = $D4
NP1 = $D6
NP2 = $D8
NP3 = $DA
BASE_E = $DC                ; exponent that belongs to bit 0, 2 bytes
SM = $DE                    ; a second accumulator
SE = $E3
SS = $E4
ROUNDS = $E5
CHUNK = $E6
FIRST = $E7
ROWS = $E8                  ; 2 bytes
MAXE = $EA
LEFT = $EB
NEAR = $F0                  ; 2 bytes
KEEP = $F2                  ; 6 bytes
LISTED = $F8                ; page and bank of the list
C0 = $A0                    ; pointer into a table, 4 bytes
RES = $EC                   ; second result, 4 bytes

A0 = $1E20                  ; the caller's registers
A1 = $1E24
