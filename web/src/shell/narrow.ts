/** Whether the window is as narrow as a phone: the same limit as in the style sheets. */
import { createSignal } from "solid-js";

const query = matchMedia("(max-width: 760px)");
const [isNarrow, setNarrow] = createSignal(query.matches);
query.addEventListener("change", ({ matches }) => setNarrow(matches));

export { isNarrow };
