/** Whether keys are worth a hint: a phone or a tablet has none. */
export const hasKeyboard = !matchMedia("(hover: none) and (pointer: coarse)").matches;
