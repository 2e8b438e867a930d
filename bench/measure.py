"""Measures everything once, both sides taking turns; leaves performance.json. See run.sh."""

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import command
import llama
from ours import Machine

ROUNDS = int(os.environ.get("ROUNDS", "5"))
ONLY = os.environ.get("MODELS", "").split()
PATIENCE = int(os.environ.get("PATIENCE", "60"))  # seconds that one model may take
THREADS = [n for n in map(int, os.environ.get("THREADS", "1 2").split()) if n <= (os.cpu_count() or 1)]

# Name, how it becomes an image, tokens of prompt and tokens generated (together they are the context).
SMALL = ["--wtype", "keep"]
LARGE = ["--wtype", "keep", "--emulator-only", "--mem-mb", "128"]
MODELS = [
    ("random-q8_0", LARGE, 96, 32),
    ("smollm2-q4_0", LARGE, 96, 32),
    ("random-f32", LARGE, 96, 32),
    ("random-f16", LARGE, 96, 32),
    ("smollm2-mixed", LARGE, 96, 32),
] + [(f"stories260K-{name}", SMALL, 128, 128) for name in ("F32", "F16", "Q8_0", "Q4_0")]


def say(text):
    print(text, file=sys.stderr, flush=True)


def model_rows(machine, ssnail, models, name, options, prompt, n):
    """Seconds of every round for one model, per number of threads and who computed."""
    image = models / f"{name}.ssnail"
    command.run(ssnail, "convert", models / f"{name}.gguf", "-o", image, "--ctx", str(prompt + n), "--yes", *options)
    theirs = llama.Model(models / f"{name}.gguf", prompt + n)
    ids, bytes_per_token = {}, 0
    for threads in THREADS:
        for numerics in ("hardware", "float"):
            opened = machine.ask("open", image, numerics, threads)
            ids[threads, numerics], bytes_per_token = opened["id"], opened["bytes_per_token"]
    rows = []
    for threads in THREADS:
        row = {"model": name, "threads": threads, "prompt": prompt, "n": n, "bytes_per_token": bytes_per_token}
        for who in ("llama", "hardware", "float"):
            row[who] = {"prefill": [], "decode": [], "prefill_cpu": [], "decode_cpu": []}
        row["read"] = []
        rows.append(row)
    started = time.monotonic()
    for turn in range(ROUNDS + 1):
        # On a machine with other work, threads that wait for each other take minutes: fewer rounds then.
        if turn > 1 and time.monotonic() - started > PATIENCE:
            break
        for row in rows:
            threads = row["threads"]
            answers = {"llama": theirs.run(threads, prompt, n)}
            time.sleep(0.02)  # until OpenMP's threads no longer spin
            for numerics in ("hardware", "float"):
                answers[numerics] = machine.run(ids[threads, numerics], prompt, n)
            read = machine.ask("read", max(bytes_per_token // 1_000_000, 1), threads)["bytes_per_second"]
            if turn:  # the first turn warms up
                row["read"].append(read)
                for who, answer in answers.items():
                    for part, seconds in answer.items():
                        row[who][part].append(seconds)
    theirs.close()
    machine.ask("close")
    return rows


def conversion(ssnail, models):
    """An F16 file to a Q4_0 image, and the same file copied, taking turns."""
    source, image, copy = models / "smollm2-f16.gguf", models / "converted.ssnail", models / "copy.gguf"
    convert = [ssnail, "convert", source, "-o", image, "--ctx", "256", "--yes"]
    convert += ["--wtype", "q4_0", "--emulator-only", "--mem-mb", "128"]
    ours, copies = [], []
    for turn in range(ROUNDS + 1):
        # Neither pays for writing back what the other left.
        for file in (image, copy):
            file.unlink(missing_ok=True)
        os.sync()
        a = command.run("cp", "--reflink=never", source, copy)
        os.sync()
        b = command.run(*convert)
        if turn:
            copies.append(a)
            ours.append(b)
    size = {"source": source.stat().st_size, "image": image.stat().st_size}
    for file in (image, copy):
        file.unlink(missing_ok=True)
    return {
        "copy": [run["seconds"] for run in copies],
        "copy_cpu": [run["cpu"] for run in copies],
        "seconds": [run["seconds"] for run in ours],
        "cpu": [run["cpu"] for run in ours],
        "own": max(run["own"] for run in ours),
        "resident": max(run["resident"] for run in ours),
        **size,
    }


def one_off(machine, ssnail, models):
    """Loading, starting, memory and size."""
    out = {"binary": Path(ssnail).stat().st_size, "load": [], "start": [], "memory": {}}
    large, small = models / "smollm2-q4_0.ssnail", models / "stories260K-Q8_0.ssnail"
    if large.exists():
        out["load"] = [machine.ask("load", large) for _ in range(2 * ROUNDS)]
    for image in (small, large):
        if image.exists():
            # Long enough for its memory to be looked at.
            whole = command.run(ssnail, "run", image, "--prompt", "a", "-n", "100")
            runs = [command.run(ssnail, "run", image, "--prompt", "a", "-n", "1") for _ in range(4 * ROUNDS)]
            out["memory"][image.stem] = {
                "image": image.stat().st_size,
                "resident": whole["resident"],
            }
            if image == small:
                out["start"] = [run["seconds"] for run in runs]
                out["start_cpu"] = [run["cpu"] for run in runs]
    return out


def context(machine, ssnail, models):
    """Seconds of every token of a long run, medians over the rounds."""
    if not (models / "stories260K-long.gguf").exists():
        return []
    image = models / "stories260K-long.ssnail"
    command.run(ssnail, "convert", models / "stories260K-long.gguf", "-o", image, "--ctx", "4095")
    machine.ask("open", image, "hardware", 1)
    runs = [machine.ask("times", 0, 4000)["times"] for _ in range(min(ROUNDS, 5))]
    machine.ask("close")
    return [median(times) for times in zip(*runs)]


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor(), ""
    fields = dict(map(str.strip, line.split(":", 1)) for line in lines if ":" in line)
    flags = fields.get("flags", "").split()
    has = [name for name in ("avx2", "avx512bw", "avx512_vnni") if name in flags]
    return fields.get("model name", platform.machine()), ", ".join(has)


def save(work, results, started):
    """Also in between: a run that is broken off has measured something."""
    results["load_after"], results["took"] = os.getloadavg(), time.monotonic() - started
    (work / "performance.json").write_text(json.dumps(results))


def main():
    release, work = map(Path, sys.argv[1:])
    ssnail, models = str(release / "ssnail"), work / "models"
    name, flags = processor()
    root = Path(__file__).parent.parent
    commit = subprocess.run(["git", "-C", root, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    results = {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": {"processor": name, "flags": flags, "cores": os.cpu_count(), "system": platform.system()},
        "commit": commit.stdout.strip(),
        "command": f"make bench ROUNDS={ROUNDS} THREADS='{' '.join(map(str, THREADS))}'",
        "llama": {"version": llama.VERSION, "features": llama.features()},
        "load_before": os.getloadavg(),
        "rounds": ROUNDS,
        "models": [],
    }
    started = time.monotonic()
    machine = Machine(release / "bench-machine")
    for model in MODELS:
        wanted = not ONLY or model[0] in ONLY
        if wanted and (models / f"{model[0]}.gguf").exists():
            say(f"bench: {model[0]}")
            results["models"] += model_rows(machine, ssnail, models, *model)
            save(work, results, started)
    save(work, results, started)
    say("bench: loading, starting, context")
    results["once"] = one_off(machine, ssnail, models)
    results["context"] = context(machine, ssnail, models)
    machine.close()
    if shutil.which("cp") and not ONLY:
        say("bench: converting")
        results["convert"] = conversion(ssnail, models)
    save(work, results, started)


main()
