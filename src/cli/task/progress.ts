/** Shows on a terminal that something is being waited for. */
import { type Io, isInteractive } from "../io.ts";
import { noSpinner, startSpinner, type Spinner } from "../run/spinner.ts";

/** `work` may say more of what is waited for as it goes on. */
export async function withSpinner<T>(io: Io, label: string, work: (shown: Spinner) => Promise<T>): Promise<T> {
  using spinner = isInteractive(io.stderr, io.env) ? startSpinner(io.stderr) : noSpinner;
  spinner.wait(label);
  return await work(spinner);
}
