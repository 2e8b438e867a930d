; The block's kernels by their numbers.
kernels:
        .word prepare, scores, mix, exp, times, scale, silu, plus, rotate, squares, sum, peak
