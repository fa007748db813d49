/** What a scripted agent can do as a process of its own. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Host } from "./scene.ts";

/** The name appears when the text is whole. */
const GRANDCHILD = `
  const { renameSync, writeFileSync } = require("node:fs");
  const [pidFile, ignoresSigterm] = process.argv.slice(1);
  if (ignoresSigterm === "true") process.on("SIGTERM", () => undefined);
  setTimeout(() => process.exit(), 60_000);
  writeFileSync(pidFile + ".part", String(process.pid));
  renameSync(pidFile + ".part", pidFile);
`;
const LOOK_AGAIN_MS = 5;

export const processHost: Host = {
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
    while (!existsSync(pidFile)) await pause(LOOK_AGAIN_MS);
  },
};
