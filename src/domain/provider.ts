/** How much a model thinks before it answers. */
export const EFFORTS = ["off", "low", "medium", "high", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** The kinds of model APIs. Every provider implements one of them. */
export const PROVIDER_KINDS = ["anthropic", "openai", "google", "openai-compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];
