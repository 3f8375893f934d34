// Programs for `node -e` in a volume: each swaps `way/part`, or the directory on the way to it, between a directory, a link out
// of the volume and nothing. `../secret` is the outside.

/** `holdMs`: how long a directory or a link stays at most; with 0 hardly any mount succeeds. */
export const subPathAttacks = (holdMs: number): readonly string[] => {
  const hold =
    holdMs === 0 ? '' : `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,Math.random()*${holdMs});`
  return [
    `const fs=require('fs');try{fs.mkdirSync('way')}catch{}
     for(;;){try{fs.mkdirSync('way/part')}catch{};${hold}try{fs.rmSync('way/part',{recursive:true})}catch{};
     try{fs.symlinkSync('../../secret','way/part')}catch{};${hold}try{fs.unlinkSync('way/part')}catch{}}`,
    `const fs=require('fs');
     for(;;){try{fs.mkdirSync('other')}catch{};try{fs.symlinkSync('../secret','link')}catch{};
     try{fs.renameSync('link','way')}catch{};${hold}try{fs.unlinkSync('way')}catch{};
     try{fs.renameSync('other','way')}catch{};${hold}try{fs.rmSync('way',{recursive:true})}catch{}}`,
  ]
}
