/** Invented names of companies and funds. */

import type { Category } from './instrument.ts';

const stems =
  'Velmora Tandrel Ostrava Quenlis Brevanta Corvel Dunmere Elvara Fennick Galdora Haverin Istrel Jorvane Kestrin Lumetta Marrowby Nordwen Orlisk Pellandra Quorra Ravensk Solvane Tessmer Ulvane Vantrel Wexmore Xandria Yarrowin Zelkova Ambrell Bostwin Calloden Drevis Esterly Farrowin Glenvar Hollisk Ivorne Jarrowen Kelbrin'.split(
    ' ',
  );
const trades =
  'Instruments Materials Foods Logistics Optics Energy Textiles Robotics Chemicals Paper Marine Systems Brands Minerals Aviation Printing Tools Glass Furniture Networks Beverages Plastics Rail Ceramics Motors Pharma Seeds Bearings Studios Timber Pumps Retail Software Steel Toys Water'.split(
    ' ',
  );
/** Places that tell further companies apart; the first ones need none. */
const places = [
  '',
  ...'Northern Pacific Atlantic Southern Western Eastern Central Alpine Baltic Harbor Summit Valley River Prairie Island'
    .split(' ')
    .map((place) => `${place} `),
];
/** Name of an instrument, different for each index below 23,040. */
export function nameOf(index: number, category: Category): string {
  const pairs = stems.length * trades.length;
  // The step shares no factor with the number of pairs, so each round meets each of them once.
  const pair = (index * 1009) % pairs;
  const place = places[Math.floor(index / pairs) % places.length];
  const name = `${stems[pair % stems.length]} ${place}${trades[Math.floor(pair / stems.length)]}`;
  return category === 'US_ETF'
    ? `${name} Index ETF`
    : `${name} ${['Inc', 'Corp', 'Group', 'Holdings'][index % 4]}`;
}
