"""bench-machine, spoken to through its pipes."""

import json
import subprocess


class Machine:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"bench-machine ended at: {words}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
