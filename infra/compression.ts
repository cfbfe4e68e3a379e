/**
 * From how many bytes on API Gateway compresses a response, deployed and on this machine. Below, the response
 * fits one packet with its headers anyhow, and gzip's own frame takes some of what is won.
 */
export const minimumCompressionBytes = 1024;
