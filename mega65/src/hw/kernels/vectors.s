; The second block: attention, and all that works on one vector or two.

BLOCK = $E800
TOP = $FF00 - BLOCK >> 8

POWER = $F800               ; as in matrix.s, but without signs and zeros
MANT = $F900
NORM = $FA00                ; not needed here: filled with the others, then a buffer
BUFFER = $FA00              ; up to $FEFF, used by each kernel in its own way
SIGNED = 0
ZEROS = 0
