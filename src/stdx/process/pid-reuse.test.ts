/** In a PID namespace of its own, a test can choose the next pid, and so make the system reuse one at once. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { expect, it } from "vitest";

const NAMESPACE = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const mayChoosePids =
  process.platform === "linux" &&
  spawnSync("unshare", [...NAMESPACE, "sh", "-c", "echo 500 > /proc/sys/kernel/ns_last_pid"]).status === 0;
const reason = mayChoosePids ? "" : " (skipped: this user may not choose pids)";

/** The shell ends, its grandchild leaves the group and keeps the output open, and a stranger gets the shell's pid. */
const STORY = `
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { startGroup } from "./stdx.mjs";
const isRunning = (pid) => { try { return !/\\) [ZX] /.test(readFileSync("/proc/" + pid + "/stat", "latin1")); } catch { return false; } };
const env = { PATH: process.env.PATH };
const group = await startGroup("sh", ["-c", "setsid sh -c 'echo $$; exec sleep 300' &"], { cwd: "/", env, marker: "reuse" });
const grandchild = Number(String((await once(group.child.stdout, "data"))[0]));
await group.ended;
const { pid } = group.identity;
let stranger;
for (let attempt = 0; attempt < 50 && stranger?.pid !== pid; attempt += 1) {
  stranger?.kill("SIGKILL");
  writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
  stranger = spawn("sleep", ["300"], { detached: true, env, stdio: "ignore" });
  await once(stranger, "spawn");
}
const isReused = stranger.pid === pid;
const heldOutput = isRunning(grandchild);
const signalled = group.signal("SIGTERM");
await group.stop();
console.log(JSON.stringify({ isReused, heldOutput, signalled, strangerRuns: isRunning(pid) }));
process.exit(0);
`;

it.runIf(mayChoosePids)(
  `never signals a stranger that got the pid and group id of a reaped shell${reason}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "rookery-reuse-"));
    try {
      await build({
        input: fileURLToPath(new URL("../index.ts", import.meta.url)),
        platform: "node",
        transform: { target: "node20" },
        output: { file: join(folder, "stdx.mjs"), codeSplitting: false },
        logLevel: "silent",
      });
      writeFileSync(join(folder, "story.mjs"), STORY);
      const options = { encoding: "utf8", env: { PATH: process.env["PATH"] }, timeout: 60_000 } as const;
      const { stdout, stderr } = spawnSync(
        "unshare",
        [...NAMESPACE, process.execPath, join(folder, "story.mjs")],
        options,
      );
      expect([stdout, stderr]).toEqual([expect.stringMatching(/^\{.*\}\n$/), ""]);
      expect(JSON.parse(stdout)).toEqual({ isReused: true, heldOutput: true, signalled: false, strangerRuns: true });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
