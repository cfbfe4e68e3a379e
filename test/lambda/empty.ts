/** The least that a function can be: what the runtime itself takes to start. */

export const handler = async () => ({ statusCode: 404, body: '' });
