/**
 * From how many bytes on API Gateway compresses an answer, deployed and on this machine. Below, the answer
 * fits one packet with its headers anyhow, and gzip's own frame takes some of what is won.
 */
export const minimumCompressionBytes = 1024;
