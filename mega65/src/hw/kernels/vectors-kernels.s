; The block's kernels by their numbers.
kernels:
        .word tables, scores, mix, exp, times, scale, silu, plus, rotate, squares, sum, peak
