/** Outputs of commands that the person ran with `!`. They go with the next prompt, unless the person drops them. */
import { formatCount } from "../../format.ts";
import type { Paint } from "../../paint.ts";
import { toSingleLine } from "../../sanitize.ts";
import { wrapStyled } from "../../tui/styled-text.ts";

export interface ShellOutput {
  readonly command: string;
  readonly text: string;
  /** How the command ended. */
  readonly end: string;
}

/** Beyond this number, the oldest outputs are dropped. */
const MAX_OUTPUTS = 5;
/** Maximum length of an output for the agent, in characters. Keeps the end. */
const MAX_CONTEXT_LENGTH = 30_000;
const MAX_COMMAND_LENGTH = 40;

export class KeptOutputs {
  #outputs: readonly ShellOutput[] = [];
  /** The hint is shown with the first outputs only. */
  #isHintShown = true;

  add(...outputs: readonly ShellOutput[]): void {
    this.#outputs = [...this.#outputs, ...outputs].slice(-MAX_OUTPUTS);
  }

  /** Returns the outputs, which are not kept anymore. */
  take(): readonly ShellOutput[] {
    const taken = this.#outputs;
    this.#keep([]);
    return taken;
  }

  dropLast(): void {
    this.#keep(this.#outputs.slice(0, -1));
  }

  /** The lines above the input. */
  render({ width, paint }: { readonly width: number; readonly paint: Paint }): string[] {
    if (this.#outputs.length === 0) return [];
    const labels = this.#outputs.map((output) => paint("cyan", formatLabel(output)));
    const hint = this.#isHintShown ? [paint("dim", "for your next prompt · Backspace drops it")] : [];
    return wrapStyled([...labels, ...hint].join(" "), width);
  }

  #keep(outputs: readonly ShellOutput[]): void {
    if (this.#outputs.length > 0) this.#isHintShown = false;
    this.#outputs = outputs;
  }
}

function formatLabel({ command, text }: ShellOutput): string {
  const lines = text.split("\n").length;
  const size = lines === 1 ? "1 line" : `${formatCount(lines)} lines`;
  return `[output of ${toSingleLine(command, MAX_COMMAND_LENGTH)}, ${size}]`;
}

/** What the agent reads. */
export function formatShellOutput({ command, text, end }: ShellOutput): string {
  return `\nOutput of \`${command}\` (${end}):\n\n${text.slice(-MAX_CONTEXT_LENGTH)}`;
}
