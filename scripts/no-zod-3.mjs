// Stands in for zod 3 in the bundled command: the AI SDK can read schemas of zod 3, and we give it none.
export const ZodFirstPartyTypeKind = {};
