/** Properties of one instrument of the simulated market. */

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
  /** Price in USD around which the instrument's price moves. */
  readonly basePrice: number;
  /** Typical move of the price in a day, as a ratio. */
  readonly dailyMove: number;
  /** Shares traded on an average day. */
  readonly dailyVolume: number;
  readonly sharesOutstanding: number;
  /** Hash by which this instrument's chance differs from the others'. */
  readonly noise: number;
}
