# What rustc made before it had its newer mangling, written by hand: the linkage names say "T"
# where there is a type, and only the debug information knows which.
#
#   main                                        calls, all inlined,
#     alloc::boxed::Box<T>::new                 for shop::Rec: 80 bytes
#     alloc::vec::Vec<T,A>::with_capacity_in    for (u64, u16): 640 bytes; its DIE has no parameters
	.text
	.globl main
	.type main, @function
main:
.Lmain:
	.cfi_startproc
	subq $8, %rsp
	.cfi_def_cfa_offset 16
.Lbox:
	movl $80, %edi
	call malloc@PLT
	nop
.Lbox_end:
.Lvec:
	movl $640, %edi
	call malloc@PLT
	nop
.Lvec_end:
	xorl %eax, %eax
	addq $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.Lmain_end:
	.size main, .-main
	.section .note.GNU-stack,"",@progbits

	.section .debug_abbrev,"",@progbits
.Labbrev:
	.uleb128 1; .uleb128 0x11; .byte 1 # unit: language, name, low_pc, high_pc
	.uleb128 0x13; .uleb128 0x0b; .uleb128 0x03; .uleb128 0x08
	.uleb128 0x11; .uleb128 0x01; .uleb128 0x12; .uleb128 0x07; .uleb128 0; .uleb128 0
	.uleb128 2; .uleb128 0x39; .byte 1 # namespace: name
	.uleb128 0x03; .uleb128 0x08; .uleb128 0; .uleb128 0
	.uleb128 3; .uleb128 0x2e; .byte 1 # function without code: linkage_name, name, inline
	.uleb128 0x6e; .uleb128 0x08; .uleb128 0x03; .uleb128 0x08
	.uleb128 0x20; .uleb128 0x0b; .uleb128 0; .uleb128 0
	.uleb128 4; .uleb128 0x2f; .byte 0 # type parameter: type, name
	.uleb128 0x49; .uleb128 0x13; .uleb128 0x03; .uleb128 0x08; .uleb128 0; .uleb128 0
	.uleb128 5; .uleb128 0x13; .byte 0 # structure: name, byte_size
	.uleb128 0x03; .uleb128 0x08; .uleb128 0x0b; .uleb128 0x0b; .uleb128 0; .uleb128 0
	.uleb128 6; .uleb128 0x2e; .byte 1 # function: name, low_pc, high_pc
	.uleb128 0x03; .uleb128 0x08; .uleb128 0x11; .uleb128 0x01
	.uleb128 0x12; .uleb128 0x07; .uleb128 0; .uleb128 0
	.uleb128 7; .uleb128 0x1d; .byte 0 # inlined: origin, low_pc, high_pc, call_line
	.uleb128 0x31; .uleb128 0x13; .uleb128 0x11; .uleb128 0x01
	.uleb128 0x12; .uleb128 0x07; .uleb128 0x59; .uleb128 0x0b; .uleb128 0; .uleb128 0
	.uleb128 0

	.section .debug_info,"",@progbits
.Linfo:
	.long .Linfo_end - .Linfo_version
.Linfo_version:
	.value 4
	.long .Labbrev
	.byte 8
	.uleb128 1 # the unit
	.byte 0x1c
	.string "shop.rs"
	.quad .Lmain
	.quad .Lmain_end - .Lmain
	.uleb128 2
	.string "shop"
.Lrec:
	.uleb128 5
	.string "Rec"
	.byte 80
	.byte 0
	.uleb128 2
	.string "alloc"
	.uleb128 2
	.string "boxed"
.Lnew:
	.uleb128 3
	.string "_ZN5alloc5boxed12Box$LT$T$GT$3new17h0123456789abcdefE"
	.string "new<shop::Rec>"
	.byte 1
	.uleb128 4
	.long .Lrec - .Linfo
	.string "T"
	.byte 0, 0 # new, boxed
	.uleb128 2
	.string "vec"
.Lwith_capacity:
	.uleb128 3
	.string "_ZN5alloc3vec16Vec$LT$T$C$A$GT$16with_capacity_in17hfedcba9876543210E"
	.string "with_capacity_in<(u64, u16), alloc::alloc::Global>"
	.byte 1
	.byte 0, 0, 0 # with_capacity_in, vec, alloc
	.uleb128 6
	.string "main"
	.quad .Lmain
	.quad .Lmain_end - .Lmain
	.uleb128 7
	.long .Lnew - .Linfo
	.quad .Lbox
	.quad .Lbox_end - .Lbox
	.byte 7
	.uleb128 7
	.long .Lwith_capacity - .Linfo
	.quad .Lvec
	.quad .Lvec_end - .Lvec
	.byte 8
	.byte 0, 0 # main, the unit
.Linfo_end:
