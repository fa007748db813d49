/** How much a model is to think before it answers. */
export const EFFORTS = ["off", "low", "medium", "high", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** The forms that model APIs have; whatever else there is speaks one of them. */
export const PROVIDER_KINDS = ["anthropic", "openai", "google", "openai-compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];
