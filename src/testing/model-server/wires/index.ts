/** All wire formats of the server. */

import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";

export const WIRES: readonly Wire[] = [anthropic, openaiResponses, openaiChat, gemini];
