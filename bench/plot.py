"""Cost per token against context, as an SVG."""

from statistics import median

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 360, 64, 48, 24, 16


def bins(times, width=100):
    """Microseconds: the median of every `width` tokens, by the context at their middle."""
    starts = range(0, len(times) - width + 1, width)
    return [(start + width / 2, 1e6 * median(times[start : start + width])) for start in starts]


def line(points):
    """The straight line with the least squares: cost at context 0 and slope."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)
    return my - slope * mx, slope


def svg(points):
    top = 1.1 * max(y for _, y in points)
    right = max(x for x, _ in points) + 50
    step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, 10000, 100000) if top / s <= 8)

    def place(x, y):
        across = LEFT + x / right * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - y / top * (HEIGHT - BOTTOM - TOP)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for tick in range(0, int(top) + 1, step):
        x, y = place(0, tick)
        out.append(f'<path d="M{x:.0f} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{x - 6:.0f}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
    for tick in range(0, int(right) + 1, 500):
        x, y = place(tick, 0)
        out.append(f'<text x="{x:.0f}" y="{y + 18:.0f}" text-anchor="middle">{tick}</text>')
    base, slope = line(points)
    (x1, y1), (x2, y2) = place(0, base), place(right, base + slope * right)
    out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#c60" stroke-dasharray="5 4"/>')
    path = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in points)
    out.append(f'<path d="M{path}" fill="none" stroke="#06c" stroke-width="2"/>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">context in tokens</text>')
    out.append(f'<text x="{LEFT}" y="15">microseconds per token: measured, and the straight line nearest to it (dashed)</text>')
    return "\n".join(out + ["</svg>", ""])
