import { scanWords, tableSize } from "./words.ts";

/** Cues that words give about their sentence. */
export const cues = {
  stop: 1,
  decision: 2,
  task: 4,
  preference: 8,
  trouble: 16,
  date: 32,
  filler: 64,
  life: 128,
} as const;

const lists: Readonly<Record<keyof typeof cues, string>> = {
  stop: `a about above after again all also am an and any are aren as at be because been before being below between both
    but by can could couldn d did didn do does doesn doing don down during each even few for from further get gets
    getting give go going gonna got had hadn has hasn have haven having he her here hers him his how however i if in
    into is isn it its itself just know let like ll m make many may maybe me might more most much must my myself no nor
    not now of off oh on once one only or other our ours out over own re really s same say says see she should shouldn
    so some something still such sure t take than that the their them then there these they thing think this those
    though through to too under until up us use using ve very want was wasn way we well were weren what when where
    which while who whom why will with won would wouldn yeah yes yet you your yours here's good great new lot keep come
    help look two first need time day back been ensure provide include including based following key important
    consider specific example step steps various different`,
  decision: `decide decided decision agree agreed chose choose chosen settled instead because therefore reason switch
    switched must never always require required requirement constraint policy approved rejected conclude concluded
    cause confirmed final rename replaced supersede superseded migrated
    决定 决議 決定 因为 所以 必须 采用 选择 改为 原因 理由 採用`,
  task: `todo fixme need needs should plan planning planned plans deadline remind reminder schedule scheduled promise
    task next later tomorrow pending blocked goal goals finish finished complete completed done start started will
    tonight working budget estimate milestone release launch deploy deployed ship shipped
    需要 计划 計画 明天 任务 完成 应该 目标 予定 必要`,
  preference: `like likes love loved prefer prefers preferred want wanted hate enjoy enjoyed wish favorite favourite
    hope hoping dream passion allergic allergy interested fan hobby dislike
    喜欢 想要 希望 讨厌 好き 爱好 愛好`,
  trouble: `error errors exception fail failed failing failure crash crashed panic traceback cannot refused denied
    timeout bug bugs fix fixed broke broken wrong problem issue warning fatal undefined missing invalid corrupt leak
    regression stuck hurt injured sick lost accident
    错误 失败 问题 修复 异常 报错 失敗 問題 修正`,
  date: `january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday yesterday today tomorrow tonight
    week weekend weeks month months year years ago last since until birthday anniversary summer winter spring autumn
    今天 昨天 明天 星期 今日 昨日`,
  filler: `wow cool awesome thanks thank hey hi hello haha lol okay ok sounds nice amazing congrats congratulations
    certainly absolutely glad welcome bye wonderful fantastic cheers yep totally definitely woohoo yay aww`,
  life: `my our wife husband mom mum dad mother father son daughter brother sister kids children family friend married
    born moved live lives work works job company school college university bought visited joined met named called
    studied graduated signed won adopted pet dog cat car house trip travel started
    我的 结婚 工作 朋友 家人 学校`,
};

const table = new Uint8Array(tableSize);
for (const [name, words] of Object.entries(lists)) {
  const bit = cues[name as keyof typeof cues];
  scanWords(words, (slot) => {
    table[slot] = (table[slot] ?? 0) | bit;
  });
}

/** The cues of a word, as bits. Words that share a slot of the table share their cues, which is rare enough. */
export function getCues(slot: number): number {
  return table[slot] ?? 0;
}
