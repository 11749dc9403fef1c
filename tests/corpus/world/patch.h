/* Ways to change the clock of the process a kernel runs in: each makes `slow_clock` answer instead of clock_gettime. */
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* Time goes by at a third of its speed. */
__attribute__((unused)) static int slow_clock(clockid_t id, struct timespec *now) {
    static int64_t first;
    if (syscall(SYS_clock_gettime, id, now) != 0) return -1;
    const int64_t all = now->tv_sec * 1000000000ll + now->tv_nsec;
    if (!first) first = all;
    const int64_t told = first + (all - first) / 3;
    now->tv_sec = told / 1000000000;
    now->tv_nsec = told % 1000000000;
    return 0;
}

/* Puts a jump to `slow_clock` where a function begins. */
__attribute__((unused)) static void patch_code(void *at) {
#if defined(__x86_64__)
    unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    void *to = (void *)slow_clock;
    memcpy(jump + 2, &to, 8);
    void *page = (void *)((uintptr_t)at & ~(uintptr_t)4095);
    if (!at || mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
    memcpy(at, jump, sizeof jump);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
#else
    (void)at;
#endif
}

/* A function of the vdso, by name. */
__attribute__((unused)) static void *of_vdso(const char *wanted) {
    const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
    if (!base) return NULL;
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)base;
    const ElfW(Phdr) *parts = (const ElfW(Phdr) *)(base + head->e_phoff);
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < head->e_phnum; i++)
        if (parts[i].p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(base + parts[i].p_offset);
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)(base + dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_STRTAB) names = base + dynamic->d_un.d_ptr;
    }
    for (int i = 1; symbols && names && i < 64; i++)
        if (strcmp(names + symbols[i].st_name, wanted) == 0) return (void *)(base + symbols[i].st_value);
    return NULL;
}

/* Every place of every loaded object that holds the address of clock_gettime. */
__attribute__((unused)) static int patch_tables(struct dl_phdr_info *info, size_t size, void *from) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = info->dlpi_phdr + i;
        if (part->p_type != PT_GNU_RELRO && !(part->p_type == PT_LOAD && part->p_flags & PF_W)) continue;
        const uintptr_t begin = (info->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7;
        const uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        for (uintptr_t at = begin; at + 8 <= end; at += 8) {
            if (*(void **)at != from) continue;
            void *page = (void *)(at & ~(uintptr_t)4095);
            if (mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0) *(void **)at = (void *)slow_clock;
        }
    }
    return 0;
}
