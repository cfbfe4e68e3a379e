/** Sectors of the simulated market. Which instrument belongs to which is invented, too. */

import { mix } from '../random.ts';

export interface Sector {
  /** Id that never changes, so that it can be written into an example. */
  readonly id: string;
  readonly name: string;
}

const names =
  'Semiconductors,Software,Banks,Insurance,Biotechnology,Medical Devices,Restaurants,Apparel,Automobiles,Airlines,Railways,Chemicals,Steel,Gold,Oil and Gas,Electric Utilities,Water Utilities,Telecoms,Media,Packaged Foods,Beverages,Household Products,Machinery,Real Estate';

export const sectors: readonly Sector[] = names
  .split(',')
  .map((name, index) => ({ id: String(6412 + index * 7), name }));

export const findSector = (id: string): Sector | undefined => sectors.find((one) => one.id === id);

export const sectorOf = (noise: number): Sector => sectors[mix(noise, 12) % sectors.length]!;
