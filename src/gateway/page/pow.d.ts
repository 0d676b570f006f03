/** Types of `pow.js`, whose own text is put into the page. */
export function solve(challenge: string, bits: number, onProgress: (share: number) => void): Promise<string>;
