/** Colours, where the reader can see them. */

export type Colour = "dim" | "bold" | "red" | "green" | "yellow";
export type Paint = (colour: Colour, text: string) => string;

const CODES: Record<Colour, readonly [number, number]> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

export const plain: Paint = (_, text) => text;

export const coloured: Paint = (colour, text) => {
  const [on, off] = CODES[colour];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};
