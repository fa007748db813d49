/** Limits of images that tools read. */

/** Maximum size of one image that providers accept. */
export const MAX_IMAGE_BYTES = 3.5 * 1024 * 1024;
