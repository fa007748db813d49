/** Every wire that the server speaks. */

import { anthropic } from "./anthropic.ts";
import type { Wire } from "./wire.ts";

export const WIRES: readonly Wire[] = [anthropic];
