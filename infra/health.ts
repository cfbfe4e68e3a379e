/** The body of `GET /health`, deployed and on this machine: that there is an API, and nothing else. */
export const healthBody = '{"status":"ok"}';
