/** Makes the output of programs readable and harmless. */
import { visible } from "../format.ts";

/** Colors, cursor movements, titles and links of terminals. The lengths are bounded, so that a match takes linear time. */

const SEQUENCES =
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|[()*+][0-9A-Za-z]|[=>NOMDEHc78])/g;
/** What a terminal would have overwritten. */
const OVERWRITTEN = /[^\n\r]*\r(?!\n|$)/g;

export function cleanOutput(text: string): string {
  const plain = text.replaceAll(SEQUENCES, "").replaceAll("\r\n", "\n");
  return visible(plain.includes("\r") ? plain.replaceAll(OVERWRITTEN, "").replaceAll("\r", "") : plain);
}
