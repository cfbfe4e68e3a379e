/** What is known of one instrument of the simulated market. */

export type Category = 'US_STOCK' | 'US_ETF';
export type SubCategory = 'COMMON_STOCK' | 'ETF' | 'PREFERRED_STOCK' | 'WARRANT' | 'UNITS' | 'RIGHT';

export interface Instrument {
  readonly symbol: string;
  readonly category: Category;
  readonly instrumentId: string;
  readonly name: string;
  readonly exchangeCode: string;
  readonly subCategory: SubCategory;
  /** OC tradable, CO close only, NT not tradable. */
  readonly status: 'OC' | 'CO' | 'NT';
  readonly sectorId: string;
  /** The price that the instrument's price moves around, in USD. */
  readonly basePrice: number;
  /** How far the price typically moves in a day, as a ratio. */
  readonly dailyMove: number;
  /** Shares traded on an average day. */
  readonly dailyVolume: number;
  readonly sharesOutstanding: number;
  /** Sets this instrument's chance apart from the others'. */
  readonly noise: number;
}
