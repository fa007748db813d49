/** `rookery chat`: an interactive conversation. Shows the prompt first, and then loads the rest of the program. */
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { singleQuote } from "../../stdx/shell-quote.ts";
import { canChat, hasColor, type Io, isPersonPresent } from "../io.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { ansiPaint } from "../paint.ts";
import { isPromptText } from "../parse.ts";
import { PromptSurface } from "../tui/prompt-surface.ts";
import type { ChatStart } from "./start/start.ts";

export async function chatCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const { named, prompt } = readChatArguments(args);
  if (prompt !== undefined && !canChat(io)) {
    throw usageError(`a chat needs a terminal; without one, use: rookery run ${singleQuote(prompt)}`);
  }
  const cwd = io.cwd();
  const settings = {
    agent: textOption(options, "agent"),
    model: textOption(options, "model"),
    permissions: choiceOption(options, "permissions", PERMISSION_POLICIES),
  };
  const { terminalInput: input } = io;
  if (input === undefined || !isPersonPresent(io)) {
    throw usageError('rookery chat needs a terminal; without one, use: rookery run "PROMPT"');
  }
  if (named !== undefined) await requireSession(io, named);
  if (isSet(options, "plain") || !hasColor(io)) {
    const { runPlainChat } = await import("./plain.ts");
    return await runPlainChat({ io, cwd, start: await chooseStart(io, options, named), settings, prompt });
  }
  using surface = new PromptSurface({ input, output: io.stdout, paint: ansiPaint });
  const start = await chooseStart(io, options, named);
  await surface.load();
  const { Chat } = await import("./controller.ts");
  const { watchChatSignals } = await import("./signals.ts");
  const chat = new Chat({ io, surface, cwd, start, settings, prompt });
  using _signals = watchChatSignals(io, () => chat.quit(EXIT.cancelled));
  return await chat.run();
}

/** A single argument with whitespace is a prompt, not a session. */
function readChatArguments([first, second]: CommandCall["args"]): { named?: string; prompt?: string } {
  const isPrompt = second === undefined && first !== undefined && isPromptText(first);
  const [named, prompt] = isPrompt ? [undefined, first] : [first, second];
  return { ...(named !== undefined && { named }), ...(prompt !== undefined && { prompt }) };
}

/** Rejects before anything is drawn, so that a wrong name does not start another conversation. */
async function requireSession(io: Io, named: string): Promise<void> {
  const [{ findSession }, { openRookeryAnywhere }] = await Promise.all([
    import("../sessions/find.ts"),
    import("../open-anywhere.ts"),
  ]);
  await using rookery = await openRookeryAnywhere(io);
  await findSession(rookery.store, named, io);
}

async function chooseStart(io: Io, options: CommandCall["options"], named: string | undefined): Promise<ChatStart> {
  if (named !== undefined) {
    const { findSession } = await import("../sessions/find.ts");
    return { type: "session", find: (rookery) => findSession(rookery.store, named, io) };
  }
  if (isSet(options, "resume")) return { type: "pick" };
  return { type: isSet(options, "continue") ? "continue" : "new" };
}
