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

    def run(self, image, prompt, n):
        """As llama.Model.run; the processor time of the decoding is what a run takes beyond its prefill."""
        start = self._cpu()
        self.ask("run", image, prompt, 1)
        middle = self._cpu()
        answer = self.ask("run", image, prompt, n)
        prefill_cpu = middle - start
        return answer | {"prefill_cpu": prefill_cpu, "decode_cpu": self._cpu() - middle - prefill_cpu}

    def _cpu(self):
        """Processor time of the machine's own thread in seconds; 0 where the system does not say."""
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/schedstat") as times:
                return int(times.read().split()[0]) / 1e9
        except (OSError, ValueError):
            return 0.0

    def close(self):
        self.process.stdin.close()
        self.process.wait()
