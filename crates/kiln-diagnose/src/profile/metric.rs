//! The metrics that rules read, under the names they have on each architecture. The first name is that of cc 9.0; a page is searched in this
//! order, and what is cited is the name that the page has.

/// One quantity and its names.
pub(crate) type Metric = &'static [&'static str];

pub(crate) const DURATION: Metric = &["gpu__time_duration.sum", "gpu__time_duration.avg"];
pub(crate) const DRAM: Metric = &[
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__cycles_active.avg.pct_of_peak_sustained_elapsed",
];
pub(crate) const L2: Metric = &["lts__throughput.avg.pct_of_peak_sustained_elapsed"];
pub(crate) const L1: Metric =
    &["l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "l1tex__throughput.avg.pct_of_peak_sustained_active"];
pub(crate) const L2_HITS: Metric = &["lts__t_sector_hit_rate.pct"];
/// Wavefronts of shared memory, global memory and atomics through L1's data stage.
pub(crate) const WAVEFRONTS: Metric = &["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"];
pub(crate) const LSU: Metric = &["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed"];
pub(crate) const ISSUE: Metric =
    &["sm__inst_issued.avg.pct_of_peak_sustained_elapsed", "sm__issue_active.avg.pct_of_peak_sustained_elapsed"];
pub(crate) const FMA: Metric = &[
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
];
pub(crate) const ALU: Metric = &[
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed",
];
pub(crate) const FP64: Metric = &[
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed",
];
pub(crate) const XU: Metric = &["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"];
/// cc 8.9 has names with `_v2`, cc 10 and later those of subpipes.
pub(crate) const TENSOR: Metric = &[
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_op_hmma_cycles_active_v2.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor_op_hmma_v2.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor_subpipe_hmma.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
];

macro_rules! path {
    ($name:literal) => {
        &[concat!("sm__ops_path_tensor_", $name, ".avg.pct_of_peak_sustained_elapsed")]
    };
}
/// Each kind of product has a peak of its own: that of mma.sync is two thirds of wgmma's on cc 9.0.
pub(crate) const MMA_SYNC_PATHS: &[Metric] = &[
    path!("op_hmma_src_fp16_dst_fp16_sparsity_off"),
    path!("op_hmma_src_fp16_dst_fp32_sparsity_off"),
    path!("op_hmma_src_bf16_dst_fp32_sparsity_off"),
    path!("op_hmma_src_tf32_dst_fp32_sparsity_off"),
    path!("op_imma_src_int8_sparsity_off"),
];
/// Products that only cc 9.0 has.
pub(crate) const WGMMA_PATHS: &[Metric] = &[
    path!("op_hgmma_src_fp16_sparsity_off"),
    path!("op_hgmma_src_bf16_dst_fp32_sparsity_off"),
    path!("op_hgmma_src_tf32_dst_fp32_sparsity_off"),
    path!("op_igmma_src_int8_sparsity_off"),
];
/// The pipe and every kind of product.
pub(crate) const TENSOR_PATHS: &[Metric] = &[
    TENSOR,
    MMA_SYNC_PATHS[0],
    MMA_SYNC_PATHS[1],
    MMA_SYNC_PATHS[2],
    MMA_SYNC_PATHS[3],
    MMA_SYNC_PATHS[4],
    WGMMA_PATHS[0],
    WGMMA_PATHS[1],
    WGMMA_PATHS[2],
    WGMMA_PATHS[3],
    path!("src_fp8_sparsity_off"),
];

pub(crate) const GRID: Metric = &["launch__grid_size"];
pub(crate) const BLOCK: Metric = &["launch__block_size"];
pub(crate) const SMS: Metric = &["launch__sm_count", "device__attribute_multiprocessor_count"];
pub(crate) const REGISTERS: Metric = &["launch__registers_per_thread"];
pub(crate) const SHARED_BYTES: Metric = &["launch__shared_mem_per_block", "launch__shared_mem_per_block_dynamic"];
/// What an SM sets aside for shared memory, and the most that it could.
pub(crate) const SHARED_SET_ASIDE: Metric = &["launch__shared_mem_config_size"];
pub(crate) const SHARED_MOST: Metric = &["device__attribute_max_shared_memory_per_multiprocessor"];
pub(crate) const LIMIT_BLOCKS: Metric = &["launch__occupancy_limit_blocks"];
pub(crate) const LIMIT_REGISTERS: Metric = &["launch__occupancy_limit_registers"];
pub(crate) const LIMIT_SHARED: Metric = &["launch__occupancy_limit_shared_mem"];
pub(crate) const LIMIT_WARPS: Metric = &["launch__occupancy_limit_warps"];
pub(crate) const THEORETICAL: Metric = &["sm__maximum_warps_per_active_cycle_pct"];
pub(crate) const ACHIEVED: Metric = &["sm__warps_active.avg.pct_of_peak_sustained_active"];
pub(crate) const WAVES: Metric = &["launch__waves_per_multiprocessor"];

pub(crate) const CYCLES_ACTIVE: Metric = &["sm__cycles_active.avg"];
pub(crate) const CYCLES_ACTIVE_LEAST: Metric = &["sm__cycles_active.min"];
pub(crate) const CYCLES_ELAPSED: Metric = &["sm__cycles_elapsed.max", "sm__cycles_elapsed.avg"];
pub(crate) const INSTRUCTIONS: Metric = &["smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed"];
pub(crate) const LANES: Metric = &["smsp__thread_inst_executed_per_inst_executed.ratio"];

pub(crate) const SECTORS: Metric = &["memory_l2_theoretical_sectors_global"];
pub(crate) const SECTORS_IDEAL: Metric = &["memory_l2_theoretical_sectors_global_ideal"];
pub(crate) const SECTORS_LOCAL: Metric = &["memory_l2_theoretical_sectors_local"];
pub(crate) const SHARED_WAVEFRONTS: Metric = &["memory_l1_wavefronts_shared"];
pub(crate) const SHARED_WAVEFRONTS_IDEAL: Metric = &["memory_l1_wavefronts_shared_ideal"];
pub(crate) const LOAD_REQUESTS: Metric = &["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"];
pub(crate) const LOAD_SECTORS: Metric = &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
pub(crate) const LOADS: Metric = &["smsp__sass_inst_executed_op_global_ld.sum", "sass__inst_executed_global_loads"];
pub(crate) const SHARED_LOADS: Metric =
    &["smsp__sass_inst_executed_op_shared_ld.sum", "sass__inst_executed_shared_loads"];
pub(crate) const LOCAL_LOADS: Metric = &["smsp__sass_inst_executed_op_local_ld.sum", "sass__inst_executed_local_loads"];
pub(crate) const LOCAL_STORES: Metric =
    &["smsp__sass_inst_executed_op_local_st.sum", "sass__inst_executed_local_stores"];
pub(crate) const READ_BYTES: Metric = &["dram__bytes_read.sum"];
pub(crate) const WRITE_BYTES: Metric = &["dram__bytes_write.sum"];
pub(crate) const LOAD_BYTES_PER_SECTOR: Metric = &["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"];

pub(crate) const ATOMIC_SECTORS: Metric = &["lts__t_sectors_srcunit_tex_op_atom.sum", "lts__t_sectors_op_atom.sum"];
pub(crate) const REDUCTION_SECTORS: Metric = &["lts__t_sectors_srcunit_tex_op_red.sum", "lts__t_sectors_op_red.sum"];
/// The slice of L2 that has most to do with atomics: those on one address all go to one slice.
pub(crate) const ATOMIC_BUSIEST: Metric = &["lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed"];
pub(crate) const SHARED_ATOMICS: Metric =
    &["smsp__inst_executed_op_shared_atom.sum", "smsp__sass_inst_executed_op_shared_atom.sum"];

pub(crate) const SHARED_ATOMIC_WAVEFRONTS: Metric =
    &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum.pct_of_peak_sustained_elapsed"];

pub(crate) const FFMA: Metric = &["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"];
pub(crate) const FADD: Metric = &["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed"];
pub(crate) const FMUL: Metric = &["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed"];
pub(crate) const HFMA: Metric = &["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed"];
pub(crate) const DADD: Metric = &["smsp__sass_thread_inst_executed_op_dadd_pred_on.sum.per_cycle_elapsed"];
pub(crate) const DMUL: Metric = &["smsp__sass_thread_inst_executed_op_dmul_pred_on.sum.per_cycle_elapsed"];
pub(crate) const DFMA: Metric = &["smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed"];

macro_rules! stall {
    ($name:literal) => {
        &[concat!("smsp__average_warps_issue_stalled_", $name, "_per_issue_active.ratio")]
    };
}
pub(crate) const STALL_BARRIER: Metric = stall!("barrier");
pub(crate) const STALL_DRAIN: Metric = stall!("drain");
pub(crate) const STALL_LONG: Metric = stall!("long_scoreboard");
/// Every reason, with the words it is shown in.
pub(crate) const STALLS: &[(&str, Metric)] = &[
    ("barrier", STALL_BARRIER),
    ("branch_resolving", stall!("branch_resolving")),
    ("dispatch_stall", stall!("dispatch_stall")),
    ("drain", STALL_DRAIN),
    ("imc_miss", stall!("imc_miss")),
    ("lg_throttle", stall!("lg_throttle")),
    ("long_scoreboard", STALL_LONG),
    ("math_pipe_throttle", stall!("math_pipe_throttle")),
    ("membar", stall!("membar")),
    ("mio_throttle", stall!("mio_throttle")),
    ("misc", stall!("misc")),
    ("no_instruction", stall!("no_instruction")),
    ("not_selected", stall!("not_selected")),
    ("selected", stall!("selected")),
    ("short_scoreboard", stall!("short_scoreboard")),
    ("sleeping", stall!("sleeping")),
    ("tex_throttle", stall!("tex_throttle")),
    ("wait", stall!("wait")),
    // cc 9.0 and later.
    ("gmma", stall!("gmma")),
];

/// The units whose load bounds a kernel.
pub(crate) const UNITS: &[Metric] = &[DRAM, L2, L1, WAVEFRONTS, LSU, ISSUE, FMA, ALU, FP64, XU, TENSOR];
/// The path to memory.
pub(crate) const PATH: &[Metric] = &[DRAM, L2, L1];
/// For how much of the time SMs have work.
pub(crate) const ACTIVE: &[Metric] = &[CYCLES_ACTIVE, CYCLES_ELAPSED];
/// The reasons to wait that every architecture has.
pub(crate) const WAITS: &[Metric] = &{
    let mut all = [STALL_BARRIER; STALLS.len() - 1];
    let mut index = 0;
    while index < all.len() {
        all[index] = STALLS[index].1;
        index += 1;
    }
    all
};
