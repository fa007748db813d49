/** Shows a spinner on a terminal while something takes time. */
import { type Io, isInteractive } from "../io.ts";
import { noSpinner, startSpinner, type Spinner } from "../run/spinner.ts";

/** `work` can change the label of the spinner. */
export async function withSpinner<T>(io: Io, label: string, work: (shown: Spinner) => Promise<T>): Promise<T> {
  using spinner = isInteractive(io.stderr, io.env) ? startSpinner(io.stderr) : noSpinner;
  spinner.wait(label);
  return await work(spinner);
}
