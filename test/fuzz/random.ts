// A small seeded generator of pseudo-random numbers (mulberry32): the same seed gives the same inputs anywhere.

export interface Random {
  /** A whole number from 0 up to, not including, `below`. */
  below(below: number): number
  chance(percent: number): boolean
  pick<T>(from: readonly [T, ...T[]]): T
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const below = (n: number): number => next() % n
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (from) => from[below(from.length)] ?? from[0],
  }
}

const anyCharacters = [...'0123456789+-.eEKMGTPkimun_/\\ \n\t\0%"{}[]:,é\u{1F600}', '\ud800'] as const

/** A few edits: drop, double, swap or insert characters; now and then a long run of one. */
export function mutateText(text: string, random: Random): string {
  let result = text
  for (let edits = random.below(4); edits > 0; edits -= 1) {
    const at = random.below(result.length + 1)
    const character = anyCharacters[random.below(anyCharacters.length)] ?? '0'
    switch (random.below(5)) {
      case 0:
        result = result.slice(0, at) + result.slice(at + 1)
        break
      case 1:
        result = result.slice(0, at) + character + result.slice(at)
        break
      case 2:
        result = result.slice(0, at) + character + result.slice(at + 1)
        break
      case 3:
        result = result.slice(0, at) + result.slice(random.below(result.length + 1))
        break
      default:
        if (random.chance(5))
          result = result.slice(0, at) + character.repeat(random.below(2000)) + result.slice(at)
    }
  }
  return result.slice(0, 10_000)
}
