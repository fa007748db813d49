/** The bridge program: an MCP server on stdio that passes everything to one on HTTP. */
export {};
