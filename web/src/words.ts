// The page's words in English and Chinese.
import { createContext } from "preact";
import { useContext } from "preact/hooks";

const WORDS = {
  overview: ["Overview", "总览"],
  rows: ["Rollouts", "轨迹"],
  row: ["Rollout", "轨迹"],
  group: ["Group", "优势组"],
  search: ["Search in the texts", "搜索文本"],
  language: ["中文", "English"],
  theme: ["Dark or light", "深色或浅色"],
  clear: ["Clear all", "清除全部"],
  remove: ["Remove the filter", "移除筛选"],
  filters: ["Filters", "筛选"],
  addFilter: ["Add a filter", "添加筛选"],
  value: ["Value", "值"],
  add: ["Add", "添加"],
  columns: ["Columns", "列"],
  loading: ["Loading…", "加载中…"],
  reading: ["Reading the file: {count} rollouts so far", "正在读取文件：目前 {count} 条轨迹"],
  noRows: ["No rollout passes these filters.", "没有符合筛选条件的轨迹。"],
  noneYet: ["No rollout has been written yet.", "尚未写入任何轨迹。"],
  sample: ["This report holds {shown} of {of} rollouts: whole groups at even distances.", "本报告含 {of} 条轨迹中的 {shown} 条：等距抽取整组。"],
  showAll: ["Show all {count} characters", "显示全部 {count} 个字符"],
  showLess: ["Show less", "收起"],
  sortBy: ["Sort by {name}", "按{name}排序"],
  total: ["rollouts", "条轨迹"],
  judged: ["judged", "已评测"],
  filtered: ["filtered", "被规则拦下"],
  failed: ["failed", "评测失败"],
  unreadable: ["unreadable", "无法读取"],
  meanReward: ["mean reward", "平均奖励"],
  successRate: ["success rate", "成功率"],
  seconds: ["seconds", "秒"],
  judgingTime: ["judging time", "评测用时"],
  cost: ["cost", "费用"],
  overSteps: ["Reward and success over the steps", "各步的奖励与成功率"],
  overRows: ["Reward and success in the file's order", "按文件顺序的奖励与成功率"],
  bandHelp: ["The band is one standard deviation. Click a point, or move with the arrow keys and press Enter, to see its rollouts.", "色带为一个标准差。点击某点，或用方向键移动后按回车，查看该处的轨迹。"],
  reward: ["reward", "奖励"],
  success: ["success", "成功"],
  distribution: ["Rewards", "奖励分布"],
  statuses: ["Verdicts", "评测结果"],
  causes: ["No verdict, by cause", "无结果的原因"],
  rules: ["Violations by rule", "违反的规则"],
  stages: ["Decided by", "由何阶段判定"],
  parts: ["Parts of the reward", "奖励的组成"],
  groups: ["Groups", "优势组"],
  groupsHelp: ["Only mixed groups carry a signal for the policy.", "只有奖励不一的组才提供训练信号。"],
  spreads: ["Spread of reward inside groups", "组内奖励的离散"],
  lengths: ["Length against reward", "长度与奖励"],
  lengthsHelp: ["Characters of the answer to the right, reward upwards; darker holds more rollouts.", "横轴为答案字符数，纵轴为奖励；颜色越深轨迹越多。"],
  people: ["Labels", "人工标注"],
  peopleHelp: ["How many of each label the judge paid.", "每种标注中评测器判为成功的比例。"],
  changes: ["Changed verdicts", "变化的结果"],
  alarms: ["Alarms", "警报"],
  prompt: ["Prompt", "提示"],
  turns: ["Turns", "轮次"],
  answer: ["Answer", "答案"],
  reference: ["Reference", "参考答案"],
  verdict: ["Verdict", "评测结果"],
  reason: ["Reason", "理由"],
  stage: ["stage", "阶段"],
  cause: ["cause", "原因"],
  rule: ["rule", "规则"],
  violations: ["Violations", "违规"],
  error: ["Error", "错误"],
  metrics: ["Metrics", "指标"],
  json: ["The row as JSON", "该行的 JSON"],
  earlier: ["Earlier verdict", "先前的结果"],
  change: ["change", "变化"],
  label: ["Label", "标注"],
  remark: ["Remark", "备注"],
  right: ["right", "正确"],
  wrong: ["wrong", "错误"],
  unsure: ["unsure", "不确定"],
  none: ["none", "无"],
  saved: ["Saved.", "已保存。"],
  save: ["Save", "保存"],
  explain: ["Explain: judge again", "解释：重新评测"],
  explaining: ["Judging…", "评测中…"],
  explainNeeds: ["Start astuner view with --conf to judge a row again.", "以 --conf 启动 astuner view 才能重新评测。"],
  labelsNeed: ["Open the file with astuner view to label.", "用 astuner view 打开文件才能标注。"],
  outcome: ["outcome", "结果"],
  next: ["Next", "下一条"],
  previous: ["Previous", "上一条"],
  back: ["Back to the list", "返回列表"],
  whole: ["The whole group", "查看整组"],
  typeset: ["Typeset formulas", "排版公式"],
  keys: ["Keys", "快捷键"],
  keysHelp: ["j k: next, previous · 1 2 3: right, wrong, unsure · 0: no label · g: group · m: formulas · e: explain · /: search · Esc: back", "j k：下一条、上一条 · 1 2 3：正确、错误、不确定 · 0：取消标注 · g：整组 · m：公式 · e：解释 · /：搜索 · Esc：返回"],
  judgeCalls: ["What the LLM judge was asked, and replied", "LLM 评测器的提示与回复"],
  someOfGroup: ["{count} of the {size} rollouts of one task, those nearest in the file", "同一任务 {size} 条轨迹中在文件里最相近的 {count} 条"],
  ofGroup: ["{count} rollouts of one task", "同一任务的 {count} 条轨迹"],
  id: ["id", "id"],
  task: ["task", "任务"],
  step: ["step", "步"],
  part: ["part", "组成"],
  chars: ["length", "长度"],
  status: ["status", "状态"],
  spread: ["spread", "离散"],
  yes: ["yes", "是"],
  no: ["no", "否"],
  mixed: ["mixed", "奖励不一"],
  single: ["single", "单条"],
  "all failed": ["all failed", "全部失败"],
  "all filtered": ["all filtered", "全部被拦"],
  "all right": ["all right", "全对"],
  "all wrong": ["all wrong", "全错"],
  "same reward": ["same reward", "奖励相同"],
  gained: ["gained", "转为成功"],
  lost: ["lost", "转为失败"],
  mended: ["mended", "已修复"],
  same: ["same", "相同"],
  new: ["new", "新增"],
  any: ["any", "任意"],
} as const;

export type Word = keyof typeof WORDS;
export type Language = "en" | "zh";

export const LanguageOf = createContext<Language>("en");

/** The word in the page's language, with a value for each name in braces. */
export type Say = (word: Word, values?: Record<string, string | number>) => string;

export function useWords(): Say {
  const language = useContext(LanguageOf);
  return (word, values = {}) => {
    const text: string = WORDS[word][language === "zh" ? 1 : 0];
    return text.replace(/\{(\w+)\}/g, (_, name: string) => `${values[name] ?? ""}`);
  };
}

// Words of the page that are not translated as names, because data may use them for something else
const HEADINGS = new Set<string>(["reference", "prompt", "answer", "error", "label", "reason", "verdict", "group", "value", "columns"]);

/** A name from the data, in the page's language if the page has a word for it. */
export function useNamed(): (name: string) => string {
  const say = useWords();
  return (name) => (Object.hasOwn(WORDS, name) && !HEADINGS.has(name) ? say(name as Word) : name);
}
