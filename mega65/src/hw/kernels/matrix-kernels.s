; The block's kernels by their numbers.
kernels:
        .word tables, quantised, halves, largest, round
