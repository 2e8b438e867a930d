"""performance.json as Markdown tables and a plot; see run.sh."""

import json
import sys
from pathlib import Path
from statistics import median

import plot

BEGIN, END = "<!-- begin: written by make bench -->", "<!-- end: written by make bench -->"
MB = 1e6


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def per_second(row, who, part, pick=median):
    count = row["prompt"] if part == "prefill" else row["n"] - 1
    return count / pick(row[who][part])


def ratio(row, who, part, pick=median):
    return per_second(row, who, part, pick) / per_second(row, "llama", part, pick)


def spread(row, who, part):
    """How far the slowest round was from the fastest."""
    return max(row[who][part]) / min(row[who][part])


def of_bound(row, who):
    return per_second(row, who, "decode") * row["bytes_per_token"] / median(row["read"])


def is_large(row):
    """Too large for the caches of a core: memory sets the limit."""
    return row["bytes_per_token"] > 20 * MB


def number(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def speeds(rows, part):
    decode = part == "decode"
    head = ["model", "threads", "llama.cpp", "hardware", "ratio", "float", "ratio", "slowest / fastest round"]
    head += ["MB per token", "bound", "hardware of bound"] if decode else []
    lines = []
    for row in rows:
        line = [row["model"], row["threads"], number(per_second(row, "llama", part))]
        for who in ("hardware", "float"):
            line += [number(per_second(row, who, part)), f"**{ratio(row, who, part):.2f}**"]
        line.append(" ".join(f"{spread(row, who, part):.2f}" for who in ("llama", "hardware", "float")))
        if decode:
            bound = median(row["read"])
            line.append(f"{row['bytes_per_token'] / MB:.2f}")
            line += [number(bound / row["bytes_per_token"]), f"{of_bound(row, 'hardware'):.0%}"] if is_large(row) else ["", ""]
        lines.append(line)
    return table(head, lines)


def processor_time(rows):
    """Tokens per second of processor time: what other work on the machine disturbs less. Only for one thread."""
    head = ["model"] + [f"{part}: {who}" for part in ("decode", "prefill") for who in ("llama.cpp", "hardware", "float")]
    lines = []
    for row in rows:
        if row["threads"] != 1 or min(row["hardware"]["decode_cpu"]) <= 0:
            continue
        line = [row["model"]]
        for part in ("decode", "prefill"):
            speed = {w: (row["prompt"] if part == "prefill" else row["n"] - 1) / median(row[w][part + "_cpu"]) for w in ("llama", "hardware", "float")}
            line.append(number(speed["llama"]))
            line += [f"{number(speed[w])} ({speed[w] / speed['llama']:.2f})" for w in ("hardware", "float")]
        lines.append(line)
    return table(head, lines)


def targets(results):
    rows = {(row["model"], row["threads"]): row for row in results["models"]}
    lines = []

    def add(what, goal, measured, met):
        lines.append([what, goal, measured, "yes" if met else "**no**"])

    def at_least(models, who, part, goal):
        for model in models:
            for threads in (1, 2):
                if row := rows.get((model, threads)):
                    got = ratio(row, who, part)
                    add(f"{part}, {who}, {model}, threads {threads}", f"{goal} of llama.cpp", f"{got:.2f}", got >= goal)

    quantised = ("random-q8_0", "smollm2-q4_0")
    floats = ("random-f32", "random-f16")
    at_least(quantised, "hardware", "decode", 1.0)
    for model in quantised:
        for threads in (1, 2):
            if row := rows.get((model, threads)):
                got = of_bound(row, "hardware")
                what = f"decode, hardware, {model}, threads {threads}"
                if got <= 1.1:
                    add(what, "80% of the bound", f"{got:.0%}", got >= 0.8)
                else:
                    lines.append([what, "80% of the bound", f"{got:.0%}: the plain read was held up", "unclear"])
    at_least(floats, "float", "decode", 1.0)
    at_least(floats, "hardware", "decode", 0.25)
    at_least(quantised, "hardware", "prefill", 0.5)
    for model in quantised + floats:
        one, two = rows.get((model, 1)), rows.get((model, 2))
        if one and two:
            for part in ("decode", "prefill"):
                got = per_second(two, "hardware", part) / per_second(one, "hardware", part)
                allowed = median(two["read"]) / median(one["read"])
                goal = "1.7 times" + (f" (reading memory: {allowed:.2f} times)" if part == "decode" else "")
                add(f"threads 1 to 2, {part}, hardware, {model}", goal, f"{got:.2f} times", got >= 1.7)
    once = results.get("once", {"load": [], "start": []})
    if once["load"]:
        got = median(run["bytes"] / run["seconds"] for run in once["load"])
        add(f"load {once['load'][0]['bytes'] / MB:.0f} MB through the port", "1 GB/s", f"{got / 1e9:.2f} GB/s", got >= 1e9)
    if once["start"]:
        got = median(once["start"])
        add("`ssnail run`, small image, one token, whole process", "below 20 ms", f"{1e3 * got:.1f} ms (processor time {1e3 * median(once['start_cpu']):.1f} ms)", got < 0.02)
    if convert := results.get("convert"):
        seconds, copy = median(convert["seconds"]), median(convert["copy"])
        add(
            f"convert F16 ({convert['source'] / MB:.0f} MB) to Q4_0",
            f"1.5 times `cp` ({copy:.3f} s)",
            f"{seconds:.3f} s, {seconds / copy:.2f} times (processor time {median(convert['cpu']):.3f} s, `cp` {median(convert['copy_cpu']):.3f} s)",
            seconds <= 1.5 * copy,
        )
        most = 1.1 * convert["image"]
        add(
            "memory of converting, without the pages of the mapped model",
            f"image + 10% ({most / MB:.0f} MB)",
            f"{convert['own'] / MB:.0f} MB ({convert['resident'] / MB:.0f} MB with them)",
            convert["own"] <= most,
        )
    if points := results.get("context") and plot.bins(results["context"]):
        half = points[: len(points) // 2]
        base, slope = plot.line(half)
        last = points[-1]
        expected = base + slope * last[0]
        add(
            f"a token at context {last[0]:.0f}, stories260K-Q8_0, hardware, 1 thread",
            f"linear: {expected:.0f} µs",
            f"{last[1]:.0f} µs",
            last[1] <= 1.1 * expected,
        )
    return table(["what", "target", "measured", "met"], lines)


def once(results):
    lines = [["`ssnail` on disk", f"{results['once']['binary'] / MB:.1f} MB"]]
    for name, found in results["once"]["memory"].items():
        lines.append(
            [f"peak memory of `ssnail run`, {name} ({found['image'] / MB:.1f} MB)", f"{found['resident'] / MB:.1f} MB"]
        )
    if points := results.get("context") and plot.bins(results["context"]):
        for at in (0, 9, 19, 29, len(points) - 1):
            lines.append([f"token at context {points[at][0]:.0f}, stories260K-Q8_0", f"{points[at][1]:.0f} µs"])
    return table(["what", "measured"], lines)


def fewer(results):
    counts = {row["model"]: len(row["read"]) for row in results["models"]}
    short = [f"{name} {count}" for name, count in counts.items() if count < results["rounds"]]
    return f" (fewer where a round took too long: {', '.join(short)})" if short else ""


def report(results):
    machine, theirs = results["machine"], results["llama"]
    before, after = results["load_before"], results["load_after"]
    head = [
        f"* Date: {results['date']}; commit {results['commit']}; command: `{results['command']}`; {results['took']:.0f} s.",
        f"* Machine: {machine['processor']}, {machine['cores']} processors ({machine['flags']}), {machine['system']};"
        f" load average {before[0]:.1f} before, {after[0]:.1f} after.",
        f"* llama.cpp: xllamacpp {theirs['version']}, built with {theirs['features']}.",
        f"* Medians of {results['rounds']} rounds{fewer(results)}.",
    ]
    rows = results["models"]
    parts = ["\n".join(head)]
    parts += ["### Targets", targets(results)]
    parts += ["### Decode, tokens per second", speeds(rows, "decode")]
    parts += ["### Prefill, tokens per second", speeds(rows, "prefill")]
    parts += ["### Tokens per second of processor time, one thread (of llama.cpp's)", processor_time(rows)]
    if "once" in results:
        parts += ["### Size, memory, context", once(results)]
    if results.get("context"):
        parts.append("![Cost per token against context](context.svg)")
    return "\n\n".join(parts) + "\n"


def main():
    work = Path(sys.argv[1])
    results = json.loads((work / "performance.json").read_text())
    text = report(results)
    places = [work] + [Path(p) for p in sys.argv[2:]]
    for place in places:
        if results.get("context"):
            (place / "context.svg").write_text(plot.svg(plot.bins(results["context"])))
    (work / "performance.md").write_text(text)
    for docs in places[1:]:
        page = docs / "performance.md"
        before, _, rest = page.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    print(text)


main()
