/** Wrong values that plain JavaScript may pass for each kind of argument. */

/** A valid value, and values that must be rejected. */
export interface Argument {
  readonly valid: unknown;
  readonly wrong: readonly unknown[];
}

const trap = () => {
  throw new Error("thrown by a proxy trap");
};
export const THROWING = new Proxy({}, { get: trap, has: trap, ownKeys: trap, getOwnPropertyDescriptor: trap });
export const NO_OBJECT = [null, 5, NaN, "text", Symbol("object"), 5n, [], THROWING];

export const text = (valid = "text"): Argument => ({
  valid,
  wrong: [null, 5, NaN, true, {}, [valid], Symbol("text"), 5n, trap],
});
export const word = (valid: string): Argument => ({
  valid,
  wrong: [...text().wrong, "", "unknown", "toString", "__proto__"],
});
export const flag: Argument = { valid: true, wrong: [null, 0, NaN, "no", {}, [], Symbol("flag")] };
export const integer: Argument = { valid: 0, wrong: [null, "5", NaN, -Infinity, 1.5, 5n, {}, [], Symbol("number")] };
export const number: Argument = { valid: 1, wrong: [null, "5", NaN, -Infinity, 5n, {}, [], Symbol("number")] };
export const signal: Argument = {
  valid: AbortSignal.abort(),
  wrong: [null, 5, NaN, "stop", {}, { aborted: true }, []],
};
export const aFunction: Argument = { valid: () => undefined, wrong: [null, 5, NaN, "text", {}, []] };

/** An array argument. Wrong values have holes or one wrong element. */
export function list(element: Argument): Argument {
  const holes = [element.valid];
  holes.length = 3;
  const wrong = [null, 5, NaN, "text", {}, THROWING, holes, ...element.wrong.map((one) => [element.valid, one])];
  return { valid: [element.valid], wrong };
}

/** An object argument. Wrong values have one wrong field, or a field that throws when it is read. */
export function object(fields: Readonly<Record<string, Argument>>, more: readonly unknown[] = []): Argument {
  const valid = Object.fromEntries(Object.entries(fields).map(([name, { valid }]) => [name, valid]));
  const wrong = Object.entries(fields).flatMap(([name, field]) => [
    ...field.wrong.map((one) => ({ ...valid, [name]: one })),
    Object.defineProperty({ ...valid }, name, { enumerable: true, get: trap }),
  ]);
  return { valid, wrong: [...NO_OBJECT, ...wrong, ...more] };
}
