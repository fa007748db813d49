/** Terminals that are plain child processes, as much as an agent of the tests asks of them. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { builtEnvironment } from "../../testing/environment.ts";
import { notFound, type TerminalHandlers } from "../index.ts";

interface Terminal {
  readonly child: ChildProcess;
  readonly closed: Promise<unknown>;
  output: string;
}

export function plainTerminals(): TerminalHandlers {
  const terminals = new Map<string, Terminal>();
  const known = (id: string): Terminal => {
    const terminal = terminals.get(id);
    if (terminal === undefined) throw notFound(`terminal ${id}`);
    return terminal;
  };
  return {
    create({ command, args = [], cwd }) {
      const folder = cwd ?? "/";
      const child = spawn(command, args, { cwd: folder, env: builtEnvironment({ home: folder }), stdio: "pipe" });
      const terminal: Terminal = { child, closed: once(child, "close"), output: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (terminal.output += text));
      const terminalId = `terminal-${terminals.size + 1}`;
      terminals.set(terminalId, terminal);
      return { terminalId };
    },
    output: ({ terminalId }) => ({ output: known(terminalId).output, truncated: false }),
    async waitForExit({ terminalId }) {
      const { child, closed } = known(terminalId);
      await closed;
      return { exitCode: child.exitCode, signal: child.signalCode };
    },
    kill({ terminalId }) {
      known(terminalId).child.kill();
      return {};
    },
    async release({ terminalId }) {
      const { child, closed } = known(terminalId);
      child.kill();
      await closed;
      terminals.delete(terminalId);
      return {};
    },
  };
}
