/** The names of the wire formats. */

export type WireName = "anthropic" | "openai-responses" | "openai-chat" | "gemini";
