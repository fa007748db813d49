// Replaces zod 3 in the bundled command. The AI SDK supports its schemas, but we use none.
export const ZodFirstPartyTypeKind = {};
