/** The sectors of the simulated market. Which instrument belongs to which is invented too. */

import { mix } from '../random.ts';

export interface Sector {
  /** Stays the same, so that it can be written into an example. */
  readonly id: string;
  readonly name: string;
}

export const sectors: readonly Sector[] = [
  'Semiconductors',
  'Software',
  'Banks',
  'Insurance',
  'Biotechnology',
  'Medical Devices',
  'Restaurants',
  'Apparel',
  'Automobiles',
  'Airlines',
  'Railways',
  'Chemicals',
  'Steel',
  'Gold',
  'Oil and Gas',
  'Electric Utilities',
  'Water Utilities',
  'Telecoms',
  'Media',
  'Packaged Foods',
  'Beverages',
  'Household Products',
  'Machinery',
  'Real Estate',
].map((name, index) => ({ id: String(6412 + index * 7), name }));

const byId = new Map(sectors.map((sector) => [sector.id, sector]));

export const findSector = (id: string): Sector | undefined => byId.get(id);

export const sectorOf = (noise: number): Sector => sectors[mix(noise, 12) % sectors.length]!;
