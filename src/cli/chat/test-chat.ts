/** For tests: a chat on a pseudo-terminal. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { ProgramScreen } from "../../../test/support/screen.ts";
import { userConfigFile } from "../../config/index.ts";
import { type AcpScript, writeAcpAgent } from "../../testing/index.ts";
import type { CommandFixture } from "../test-command.ts";

/** How long a test of several chats may take on a busy machine. */
export const CHAT_TEST_MS = 90_000;

/** Resolves when the prompt is shown. */
export async function openChat(
  fixture: CommandFixture,
  args: readonly string[] = [],
  options: Parameters<CommandFixture["screen"]>[1] = {},
): Promise<ProgramScreen> {
  const screen = fixture.screen(args, options);
  await screen.waitFor("❯");
  return screen;
}

/** Types a line and presses Enter. */
export function submitLine(screen: ProgramScreen, text: string): void {
  screen.type(text);
  screen.press("enter");
}

/** Configures the scripted ACP agent `other` beside the built-in one. Resolves with the file that records its input. */
export async function configureAcpAgent(fixture: CommandFixture, script: AcpScript, more = ""): Promise<string> {
  const { command, record } = await writeAcpAgent(fixture.home, script);
  const file = userConfigFile(fixture.env);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `[agents.other]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\n${more}`);
  return record;
}
