/** Output of a program: control sequences are removed, and a long text is shown in parts. */
import { createMemo, createSignal, Show, type JSX } from "solid-js";
import { cleanOutput } from "../output.ts";

const FIRST_LENGTH = 6_000;
const MORE_LENGTH = 40_000;
/** A text node of this size still scrolls well. */
const MAX_LENGTH = 400_000;

interface OutputTextProps {
  readonly text: string;
  readonly label: string;
  /** Shows the end first, for output that grows. Default: false. */
  readonly isTail?: boolean;
}

export function OutputText(props: OutputTextProps): JSX.Element {
  const [length, setLength] = createSignal(FIRST_LENGTH);
  const shown = createMemo(() => {
    const { text } = props;
    if (text.length <= length()) return cleanOutput(text);
    return cleanOutput(props.isTail === true ? text.slice(-length()) : text.slice(0, length()));
  });
  const hidden = (): number => Math.max(0, props.text.length - length());
  const note = (): string => {
    const rest = `${hidden().toLocaleString()} more characters`;
    return length() < MAX_LENGTH ? `Show more (${rest})` : `${rest} are in the log`;
  };
  return (
    <>
      <pre class="output wide" tabindex="0" role="group" aria-label={props.label}>
        {shown()}
      </pre>
      <Show when={hidden() > 0}>
        <button
          class="plain small"
          disabled={length() >= MAX_LENGTH}
          onClick={() => setLength((now) => Math.min(MAX_LENGTH, now + MORE_LENGTH))}
        >
          {note()}
        </button>
      </Show>
    </>
  );
}
