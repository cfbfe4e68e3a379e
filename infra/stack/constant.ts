/** How API Gateway's parameter mappings write a constant. */
export const constant = (value: string) => `'${value}'`;
