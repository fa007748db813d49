/** `rookery complete`: prints the words that complete a command line, for the completion scripts. Never fails. */
import type { CommandCall } from "../command.ts";
import { PROGRAM } from "../commands.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, print } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";
import { type CompletionCandidate, MAX_CANDIDATES } from "./candidate.ts";
import { type CompletionTarget, findCompletionTarget } from "./target.ts";

/** The shells cut what does not fit. */
const MAX_SUMMARY = 120;
/** The shells expand some other characters, and no id or name needs them. */
const SAFE_WORD = /^[\p{L}\p{N}_.:/@+-]+$/u;

/** Prints one word per line, with a tab and a summary. `:files` and `:directories` ask the shell for paths. */
export async function completeWordsCommand({ io, args }: CommandCall): Promise<ExitCode> {
  const typed = args.map((word) => word ?? "");
  const target = findCompletionTarget(PROGRAM, typed);
  if (target.kind === "files" || target.kind === "directories") {
    await print(io, `:${target.kind}\n`);
    return EXIT.done;
  }
  const found = await findCandidates(io, target).catch(() => []);
  const lines = [...target.words, ...found]
    .filter(({ word }) => word.startsWith(target.typed) && SAFE_WORD.test(word))
    .slice(0, MAX_CANDIDATES)
    .map(({ word, summary = "" }) => `${target.prefix}${word}\t${toSingleLine(summary, MAX_SUMMARY)}\n`);
  await print(io, lines.join(""));
  return EXIT.done;
}

/** Loads only what the kind needs: a person waits for the words. */
async function findCandidates(
  io: Io,
  { kind, typed, args }: CompletionTarget,
): Promise<readonly CompletionCandidate[]> {
  switch (kind) {
    case "agents":
    case "models":
    case "servers":
    case "pipelines":
    case "keys":
      return (await import("./configured-words.ts")).configuredCandidates(io, kind, typed);
    case "sessions":
    case "tasks":
    case "conversations":
    case "waiting":
    case "requests":
      return (await import("./logged-words.ts")).loggedCandidates(io, kind, args.at(-1));
    case "native":
      return (await import("./native-words.ts")).nativeCandidates(io);
    case "branches":
      return (await import("./branches.ts")).branchCandidates(io);
    case "registry": {
      const { builtinRegistry } = await import("../../acp/devtools/registry/index.ts");
      return builtinRegistry().agents.map(({ id, name }) => ({ word: id, summary: name }));
    }
    case "files":
    case "directories":
    case undefined:
      return [];
  }
}
