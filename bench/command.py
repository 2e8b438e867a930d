"""Whole commands: seconds and memory of a process."""

import os
import subprocess
import threading
import time


def run(*command):
    """Runs a command; gives seconds, processor time, the most memory it had resident, and how much of that was its own (not files)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    most, done = [0, 0], threading.Event()

    def watch():
        while not done.wait(0.001):
            try:
                with open(f"/proc/{process.pid}/status") as status:
                    lines = dict(line.split(":", 1) for line in status)
                for place, field in enumerate(("RssAnon", "VmHWM")):
                    most[place] = max(most[place], int(lines[field].split()[0]) * 1024)
            except (OSError, KeyError, ValueError):
                return  # the process has ended, or this is not Linux

    watcher = threading.Thread(target=watch)
    watcher.start()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {errors.decode(errors='replace')}")
    # Its ru_maxrss would be ours: a child begins as a copy of its parent.
    cpu = usage.ru_utime + usage.ru_stime
    return {"seconds": seconds, "cpu": cpu, "resident": most[1], "own": most[0]}
