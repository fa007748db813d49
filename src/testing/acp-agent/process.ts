/** The host of a scripted agent that runs as a separate process. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { AcpAgentHost } from "./step-context.ts";

/** Renames the file when it is complete, so that a reader never sees a partial process id. */
const GRANDCHILD = `
  const { renameSync, writeFileSync } = require("node:fs");
  const [pidFile, ignoresSigterm] = process.argv.slice(1);
  if (ignoresSigterm === "true") process.on("SIGTERM", () => undefined);
  setTimeout(() => process.exit(), 60_000);
  writeFileSync(pidFile + ".part", String(process.pid));
  renameSync(pidFile + ".part", pidFile);
`;
const POLL_MS = 5;

export const processHost: AcpAgentHost = {
  exit: ({ code = 0, signal }) => {
    if (signal === undefined) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    return new Promise(() => undefined);
  },

  stderr: (text) => void process.stderr.write(text),

  async leaveBehind({ pidFile, holdsOutput = false, ignoresSigterm = false, ownGroup = false }) {
    const output = holdsOutput ? "inherit" : "ignore";
    const child = spawn(process.execPath, ["-e", GRANDCHILD, pidFile, String(ignoresSigterm)], {
      stdio: ["ignore", output, output],
      detached: ownGroup,
    });
    child.unref();
    while (!existsSync(pidFile)) await pause(POLL_MS);
  },
};
