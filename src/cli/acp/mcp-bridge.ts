/** `rookery acp mcp-bridge`: an MCP server on stdio that forwards all messages to a server of the proxy that started it. */
import type { Readable } from "node:stream";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { reserveStdout } from "./stdout.ts";

export async function mcpBridgeCommand({ io }: CommandCall): Promise<ExitCode> {
  const stdout = reserveStdout();
  const { runBridge } = await import("../../acp/mcp/index.ts");
  const { env, stderr } = io;
  const code = await runBridge({ env, stderr, stdout, stdin: io.stdin as Readable });
  return code === 0 ? EXIT.done : EXIT.failed;
}
